import type { PingService } from "@moorage/api/messages";
import type { Service } from "../core/service.ts";

export function pingService(): Service<typeof PingService> {
  return { ping: async () => ({ response: "pong" }) };
}
