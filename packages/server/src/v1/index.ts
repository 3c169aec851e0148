import type { DescService } from "@bufbuild/protobuf";
import type { Method } from "../runtime/methods.ts";
import { groups } from "./iam/groups.ts";
import { roles } from "./iam/roles.ts";
import { advisories } from "./vulnerabilities/advisories.ts";

const METHODS: readonly [string, Method][] = [...groups, ...roles, ...advisories];

/** The services of v1. */
export const V1_SERVICES: readonly DescService[] = [...new Set(METHODS.map(([, { desc }]) => desc.parent))];

/** The methods of v1 by full name. */
export function v1Methods(): Map<string, Method> {
  return new Map(METHODS);
}
