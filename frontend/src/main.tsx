import { render } from "preact";
import { App } from "./app/app";
import { startNavigation } from "./app/state/navigation";
import { followTheme } from "./base/theme";
import "./styles/tokens.css";
import "./styles/controls.css";
import "./styles/shell.css";
import "./styles/table.css";
import "./styles/charts.css";
import "./styles/steps.css";
import "./styles/overview.css";
import "./styles/findings.css";

followTheme();
render(<App navigation={startNavigation()} />, document.getElementById("app")!);
