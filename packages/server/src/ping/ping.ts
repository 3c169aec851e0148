import type { PingService } from "@moorage/api/messages";
import type { Service } from "@moorage/kernel/core/service";

export function pingService(): Service<typeof PingService> {
  return { ping: async () => ({ response: "pong" }) };
}
