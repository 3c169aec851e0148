import type { PingService } from "@moorage/api";
import type { Room } from "../room.ts";

export function pingService(): Room<typeof PingService> {
  return { ping: async () => ({ response: "pong" }) };
}
