import { randomUUID } from "node:crypto";
import type { Config } from "@moorage/kernel/config";
import { systemCall } from "@moorage/kernel/core/system-call";
import { MoorageError } from "@moorage/kernel/errors";
import { type GrantedOwner, grantOwner, type OwnerGrant } from "@moorage/platform/iam";
import { StoreError } from "@moorage/kernel/store";
import { withWriter } from "./open-writer.ts";

export type { GrantedOwner } from "@moorage/platform/iam";

/**
 * Makes an identity an owner of an organization, for the operator of the installation; servers may run, on either
 * engine. Throws a StoreError in one line.
 */
export async function grantOwnership(config: Config, grant: OwnerGrant): Promise<GrantedOwner> {
  try {
    return await withWriter(config, ({ writer }) =>
      writer.write(grantOwner, systemCall(Date.now(), randomUUID()), grant),
    );
  } catch (error) {
    throw error instanceof MoorageError ? new StoreError(error.message, { cause: error }) : error;
  }
}
