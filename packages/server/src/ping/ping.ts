import type { PingService } from "@moorage/api";
import type { Room } from "../core/service.ts";

export function pingService(): Room<typeof PingService> {
  return { ping: async () => ({ response: "pong" }) };
}
