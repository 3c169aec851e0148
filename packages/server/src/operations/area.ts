import { AttentionService, OperationsService } from "@moorage/api/messages";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { attentionService } from "./attention/service.ts";
import { operationsService } from "./service.ts";

export const operationsArea: Area = {
  name: "operations",
  services: [served(OperationsService, operationsService), served(AttentionService, attentionService)],
};
