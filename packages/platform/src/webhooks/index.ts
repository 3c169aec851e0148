// Event delivery.
export { startDispatcher } from "./dispatcher.ts";
