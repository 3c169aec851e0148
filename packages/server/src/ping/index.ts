export { pingService } from "./ping.ts";
