import { randomUUID } from "node:crypto";
import type { Config } from "../config/index.ts";
import { systemCall } from "../core/system-call.ts";
import { MoorageError } from "../errors.ts";
import { type GrantedOwner, grantOwner, type OwnerGrant } from "../iam/index.ts";
import { requireFinished } from "../installation/marker.ts";
import { openCommandWriter, requireNewest } from "../installation/stores.ts";
import { openStore, StoreError } from "../store/index.ts";

export type { GrantedOwner } from "../iam/index.ts";

/**
 * Makes an identity an owner of an organization, for the operator of the installation; servers may run, on either
 * engine. Throws a StoreError in one line.
 */
export async function grantOwnership(config: Config, grant: OwnerGrant): Promise<GrantedOwner> {
  const store = await openStore(config);
  try {
    await requireNewest(store, config);
    await requireFinished(store.reader);
    const { promise: broken, reject } = Promise.withResolvers<never>();
    const writer = await openCommandWriter(store, config, reject);
    try {
      const data = systemCall(Date.now(), randomUUID());
      return await Promise.race([broken, writer.write(grantOwner, data, grant)]);
    } finally {
      await writer.close();
    }
  } catch (error) {
    throw error instanceof MoorageError ? new StoreError(error.message, { cause: error }) : error;
  } finally {
    await store.close();
  }
}
