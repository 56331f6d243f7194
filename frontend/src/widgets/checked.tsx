/** What the doctor found, which few pages need: its code is loaded when it is first shown. */
import { Late } from "./late";

const load = () => import("./diagnoses");

export function Checked(props: { readonly run: string; readonly said?: readonly string[] }) {
  return <Late load={load}>{({ Diagnoses }) => <Diagnoses {...props} />}</Late>;
}
