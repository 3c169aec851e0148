// What other rooms and the delivery may ask of events.
export { appendEvents } from "./append.ts";
