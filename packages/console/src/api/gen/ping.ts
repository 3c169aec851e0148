// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

export interface PingRequest {}
export interface PingResponse {
  response: string;
}
export const ping = method<PingRequest, PingResponse>("GET", "/ping/v2/ping", "");
