import type { Area } from "@moorage/kernel/core/area";
import { belowGroup } from "./below-group.ts";
import { IAM_CHECKS } from "./checks.ts";
import { resealProviders } from "./identity-providers.ts";
import { IAM_TABLES } from "./tables.ts";

export const iamArea: Area = {
  name: "iam",
  tables: IAM_TABLES,
  below: { group: belowGroup },
  checks: IAM_CHECKS,
  reseal: resealProviders,
};
