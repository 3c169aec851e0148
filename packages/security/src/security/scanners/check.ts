import { clone, create, toJsonString } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import {
  type CheckScannerRequest,
  type CreateScannerRequest,
  CreateScannerRequestSchema,
  type Scanner,
  type ScannerAdapter,
  ScannerAdapterSchema,
  ScannerSchema,
  type UpdateScannerRequest,
  UpdateScannerRequestSchema,
} from "@moorage/api/messages";
import { applyMask, isNamed } from "@moorage/kernel/aip/masks";
import type { Config } from "@moorage/kernel/config";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { failedPrecondition, invalidArgument } from "@moorage/kernel/errors";
import { createSemaphores } from "@moorage/kernel/lib/semaphore";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import { organizationOf } from "@moorage/kernel/lib/uid";
import type { Row } from "@moorage/kernel/store";
import { type AdapterAddress, AdapterError, openAdapter } from "./adapter.ts";
import { credentialPlace } from "./credentials.ts";
import { scannerViolations } from "./fields.ts";
import { scannerOf } from "./resource.ts";

export interface ScannerCheckDeps {
  transactor: Transactor;
  secrets: Secrets;
  config: Pick<Config, "allowPrivateNetwork" | "dnsServers">;
}

/** Asks the adapters of scanners that are made, changed or checked what they are, before the transaction. */
export interface ScannerChecks {
  /** Answers the request with what the adapter said. Throws INVALID_ARGUMENT with all violations. */
  create(request: CreateScannerRequest): Promise<CreateScannerRequest>;
  /** The same; without an adapter where it need not be asked. */
  update(data: CallData, request: UpdateScannerRequest): Promise<UpdateScannerRequest>;
  /**
   * Stores what the adapter said, unless the call is a dry run. Throws FAILED_PRECONDITION when it does not answer as
   * an adapter.
   */
  check(data: CallData, request: CheckScannerRequest): Promise<void>;
}

// Of the scanners of one organization.
const CONCURRENCY = 2;

export function createScannerChecks({ transactor, secrets, config }: ScannerCheckDeps): ScannerChecks {
  const semaphores = createSemaphores(CONCURRENCY);
  const ask = (uid: string, address: AdapterAddress): Promise<ScannerAdapter> =>
    semaphores(organizationOf(uid), () => openAdapter(address, config).metadata());
  const asked = async (uid: string, scanner: Scanner, authorization: string): Promise<ScannerAdapter> => {
    const violations = scannerViolations(scanner, config);
    if (violations.length > 0) throw invalidArgument(...violations);
    try {
      return await ask(uid, { url: scanner.url, authorization });
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error;
      throw invalidArgument({ field: "url", description: error.message });
    }
  };
  const find = (data: CallData, uid: string): Promise<Row<"scanners"> | undefined> =>
    transactor.read(data, ({ tx }) => tx.selectFrom("scanners").selectAll().where("uid", "=", uid).executeTakeFirst());
  const opened = ({ uid, credential }: Row<"scanners">): string =>
    credential === "" ? "" : secrets.open(credential, credentialPlace(uid));
  return {
    async create(request) {
      const { parent, scanner = create(ScannerSchema) } = request;
      const adapter = await asked(parent, scanner, scanner.authorization);
      return { ...clone(CreateScannerRequestSchema, request), scanner: { ...scanner, adapter } };
    },
    async update(data, request) {
      const { scanner = create(ScannerSchema), updateMask } = request;
      const { adapter: _, ...given } = scanner;
      const copy = { ...clone(UpdateScannerRequestSchema, request), scanner: given };
      const row = await find(data, scanner.uid);
      if (row === undefined) return copy;
      const after = applyMask(ScannerSchema, scannerOf(row), scanner, updateMask);
      if (after.disabled || !isToBeAsked(row, after, updateMask)) return copy;
      const authorization = keepsCredential(row, after, updateMask) ? opened(row) : after.authorization;
      return { ...copy, scanner: { ...given, adapter: await asked(row.parent, after, authorization) } };
    },
    async check(data, { uid, validateOnly }) {
      const row = await find(data, uid);
      if (row === undefined) return;
      try {
        const adapter = await ask(uid, { url: row.url, authorization: opened(row) });
        if (validateOnly) return;
        await transactor.write(storeScannerAdapter, data, {
          uid,
          adapter: toJsonString(ScannerAdapterSchema, adapter),
        });
      } catch (error) {
        if (!(error instanceof AdapterError)) throw error;
        throw failedPrecondition({ type: "SCANNER_UNUSABLE", subject: uid, description: error.message });
      }
    },
  };
}

function isToBeAsked(before: Row<"scanners">, after: Scanner, mask: FieldMask | undefined): boolean {
  return before.disabled === 1 || before.url !== after.url || !keepsCredential(before, after, mask);
}

/** Whether the stored authorization stays: it is sent only to the adapter that it was given for. */
export function keepsCredential(
  before: Pick<Row<"scanners">, "url">,
  after: Pick<Scanner, "url" | "authorization">,
  mask: FieldMask | undefined,
): boolean {
  return before.url === after.url && after.authorization === "" && !isNamed(mask, "authorization");
}

/** Stores what an adapter said of itself, as proto3 JSON. */
export const storeScannerAdapter = command(
  "security.storeScannerAdapter",
  async ({ tx, nowMs }: Call, { uid, adapter }: { uid: string; adapter: string }): Promise<void> => {
    await tx
      .updateTable("scanners")
      .set({ adapter, check_time: nowMs, update_time: nowMs })
      .where("uid", "=", uid)
      .execute();
  },
);
