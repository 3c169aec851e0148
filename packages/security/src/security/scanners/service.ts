import { create, toJsonString } from "@bufbuild/protobuf";
import {
  type Scanner,
  type ScannerAdapter,
  ScannerAdapterSchema,
  ScannerSchema,
  ScannersService,
} from "@moorage/api/messages";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { countBelow, storedGet } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition, invalidArgument, permissionDenied } from "@moorage/kernel/errors";
import { groups } from "@moorage/platform/iam";
import type { Row } from "@moorage/kernel/store";
import { keepsCredential } from "./check.ts";
import { credentialPlace } from "./credentials.ts";
import { scannerViolations } from "./fields.ts";
import { mayPull } from "./queue.ts";
import { SCANNER_LAYOUT, scannerColumns, scanners } from "./resource.ts";

// Each image of the group, and of everything below it, has a scan for each scanner.
const MAX_PER_GROUP = 20;

const getScanner = storedGet("scanners", SCANNER_LAYOUT);
const LIST = storedListOf(
  {
    method: ScannersService.method.listScanners,
    table: "scanners",
    defaultOrder: "name",
    orderBy: sortable("name", "description", "create_time", "update_time", "uid"),
    large: ["adapter"],
  },
  SCANNER_LAYOUT,
);

/** Scanners of groups: docs/vulnerabilities.md. What adapters say comes with the request; see check.ts. */
export function scannersService({
  pageTokenKey,
  secrets,
  allowPrivateNetwork = true,
}: ServiceContext): Service<typeof ScannersService> {
  const storeCredential = async (call: Call, uid: string, authorization: string): Promise<void> => {
    const credential = authorization === "" ? "" : secrets.seal(authorization, credentialPlace(uid));
    await change(call, uid, { credential });
  };
  const check = (scanner: Scanner): void => {
    const violations = scannerViolations(scanner, { allowPrivateNetwork });
    if (violations.length > 0) throw invalidArgument(...violations);
  };
  return {
    getScanner: (call, { uid }) => getScanner(call.tx, uid),
    listScanners: (call, request) =>
      listStored(call, pageTokenKey, LIST, request, { filters: ({ name }) => columnIsIfSet("name", name) }),
    async createScanner(call, { parent, scanner = create(ScannerSchema) }) {
      check(scanner);
      await groups.get(call.tx, parent);
      await requireCapacity(call, parent);
      await requirePull(call, parent);
      const row = await scanners.insert(call, parent, {
        ...scannerColumns(scanner),
        credential: "",
        adapter: adapterText(scanner.adapter),
        check_time: scanner.adapter === undefined ? null : call.nowMs,
        identity: call.caller.identity,
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      // It is sealed for the row's uid, which the insert has assigned.
      if (scanner.authorization !== "") await storeCredential(call, row.uid, scanner.authorization);
      return scanners.toMessage(row);
    },
    async updateScanner(call, { scanner = create(ScannerSchema), updateMask }) {
      const { uid, adapter } = scanner;
      const answer = await scanners.patch(call, uid, scanner, updateMask, async (before, after) => {
        if (before.url !== after.url) check(after);
        if (before.name !== after.name) await scanners.requireFree(call.tx, before.parent, after.name);
        if (!keepsCredential(before, after, updateMask)) await storeCredential(call, uid, after.authorization);
        // What is not used pulls nothing.
        if (after.disabled) return;
        // What waited while it was disabled is due.
        call.wake("scans");
        await requirePull(call, before.parent);
        await change(call, uid, {
          identity: call.caller.identity,
          ...(adapter !== undefined && { adapter: adapterText(adapter), check_time: call.nowMs }),
        });
      });
      return scanners.toMessage(await scanners.get(call.tx, answer.uid));
    },
    async deleteScanner(call, { uid }) {
      // There may be very many scans: a job removes them.
      await scanners.remove(call, await scanners.get(call.tx, uid));
      return {};
    },
    checkScanner: async (call, { uid }) => scanners.toMessage(await scanners.get(call.tx, uid)),
  };
}

function adapterText(adapter: ScannerAdapter | undefined): string | null {
  return adapter === undefined ? null : toJsonString(ScannerAdapterSchema, adapter);
}

async function change({ tx }: Call, uid: string, changes: Partial<Row<"scanners">>): Promise<void> {
  await tx.updateTable("scanners").set(changes).where("uid", "=", uid).execute();
}

async function requireCapacity(call: Call, group: string): Promise<void> {
  if ((await countBelow(call.tx, "scanners", group)) < MAX_PER_GROUP) return;
  throw failedPrecondition({
    type: "TOO_MANY_SCANNERS",
    subject: group,
    description: `a group has at most ${MAX_PER_GROUP} scanners`,
  });
}

/** The adapter gets what the caller may pull: nobody gets images out of a group by an adapter of one's own. */
async function requirePull(call: Call, group: string): Promise<void> {
  if (await mayPull(call, call.caller.identity, group)) return;
  throw permissionDenied("a scanner pulls images as the caller, who may not pull in this group by its role bindings", {
    missing: "CAP_MANIFEST_LIST,CAP_REPO_BLOBS_GET",
  });
}
