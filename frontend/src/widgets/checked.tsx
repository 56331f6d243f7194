/** Diagnoses whose code is loaded on demand, since few pages show them. */
import { Late } from "./late";

const load = () => import("./diagnoses");

export function Checked(props: { readonly run: string; readonly said?: readonly string[] }) {
  return <Late load={load}>{({ Diagnoses }) => <Diagnoses {...props} />}</Late>;
}
