// Event delivery.
export { type Dispatcher, startDispatcher } from "./dispatcher.ts";
export { wakingTransactor } from "./wake.ts";
