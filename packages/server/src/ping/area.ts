import { PingService } from "@moorage/api/messages";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { pingService } from "./ping.ts";

export const pingArea: Area = { name: "ping", services: [served(PingService, pingService)] };
