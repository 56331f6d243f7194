// TensorBoard's entry: it imports this module inside the plugin's frame and calls render().
export function render() {
  document.location.replace("index.html");
}
