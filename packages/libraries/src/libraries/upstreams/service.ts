import { create } from "@bufbuild/protobuf";
import { EcosystemSchema, type Upstream, UpstreamSchema, UpstreamsService } from "@moorage/api/messages";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { storedGet } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { alreadyExists, invalidArgument } from "@moorage/kernel/errors";
import { groups } from "@moorage/platform/iam";
import type { Row } from "@moorage/kernel/store";
import { credentialPlace, keepsCredential } from "./credentials.ts";
import { upstreamViolations } from "./fields.ts";
import { UPSTREAM_LAYOUT, upstreamColumns, upstreams } from "./resource.ts";

const getUpstream = storedGet("upstreams", UPSTREAM_LAYOUT);
const LIST = storedListOf(
  {
    method: UpstreamsService.method.listUpstreams,
    table: "upstreams",
    defaultOrder: "ecosystem",
    orderBy: sortable("ecosystem", "description", "url", "create_time", "update_time", "uid"),
    large: ["reserved_names", "merged_names"],
  },
  UPSTREAM_LAYOUT,
);

/** Upstreams of groups. What is asked of them is in documents.ts and files.ts. */
export function upstreamsService({
  pageTokenKey,
  secrets,
  allowPrivateNetwork = true,
}: ServiceContext): Service<typeof UpstreamsService> {
  const store = async (call: Call, uid: string, password: string): Promise<void> => {
    const credential = password === "" ? "" : secrets.seal(password, credentialPlace(uid));
    await change(call, uid, { credential });
  };
  const check = (upstream: Upstream): void => {
    const violations = upstreamViolations(upstream, { allowPrivateNetwork });
    if (violations.length > 0) throw invalidArgument(...violations);
  };
  return {
    getUpstream: (call, { uid }) => getUpstream(call.tx, uid),
    listUpstreams: (call, request) =>
      listStored(call, pageTokenKey, LIST, request, {
        filters: ({ ecosystem }) => columnIsIfSet("ecosystem", ecosystem),
      }),
    async createUpstream(call, { parent, upstream = create(UpstreamSchema) }) {
      check(upstream);
      await groups.get(call.tx, parent);
      await requireNone(call, parent, upstream);
      const row = await upstreams.insert(call, parent, {
        ...upstreamColumns(upstream),
        credential: "",
        last_success_time: null,
        last_error: "",
        last_error_time: null,
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      // It is sealed for the row's uid, which the insert has assigned.
      if (upstream.password !== "") await store(call, row.uid, upstream.password);
      return upstreams.toMessage(row);
    },
    async updateUpstream(call, { upstream = create(UpstreamSchema), updateMask }) {
      const { uid } = upstream;
      const { uid: changed } = await upstreams.patch(call, uid, upstream, updateMask, async (before, after) => {
        const isKept = keepsCredential(before, after, updateMask);
        check(isKept && before.credential !== "" ? { ...after, password: "kept" } : after);
        if (!isKept) await store(call, uid, after.password);
        if (before.url !== after.url)
          await change(call, uid, { last_success_time: null, last_error: "", last_error_time: null });
      });
      return upstreams.toMessage(await upstreams.get(call.tx, changed));
    },
    async deleteUpstream(call, { uid }) {
      // There may be very many documents of it: a job removes them.
      await upstreams.remove(call, await upstreams.get(call.tx, uid));
      return {};
    },
  };
}

async function requireNone(call: Call, group: string, { ecosystem }: Upstream): Promise<void> {
  const found = await call.tx
    .selectFrom("upstreams")
    .select("uid")
    .where("parent", "=", group)
    .where("ecosystem", "=", ecosystem)
    .executeTakeFirst();
  if (found !== undefined)
    throw alreadyExists(UpstreamSchema.typeName, EcosystemSchema.value[ecosystem]?.name ?? String(ecosystem));
}

async function change({ tx }: Call, uid: string, changes: Partial<Row<"upstreams">>): Promise<void> {
  await tx.updateTable("upstreams").set(changes).where("uid", "=", uid).execute();
}
