import { randomUUID } from "node:crypto";
import type { Config } from "../config/index.ts";
import { systemCall } from "../core/system-call.ts";
import { MoorageError } from "../errors.ts";
import { type GrantedOwner, grantOwner, type OwnerGrant } from "../iam/index.ts";
import { StoreError } from "../store/index.ts";
import { withWriter } from "./open-writer.ts";

export type { GrantedOwner } from "../iam/index.ts";

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
