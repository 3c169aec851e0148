// Event delivery.
export { type Dispatcher, startDispatcher } from "./dispatcher.ts";
