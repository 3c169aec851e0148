import { create } from "@bufbuild/protobuf";
import { type RegistryUpstream, RegistryUpstreamSchema, RegistryUpstreamsService } from "@moorage/api/messages";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { storedGet } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { alreadyExists, failedPrecondition, invalidArgument } from "@moorage/kernel/errors";
import type { Row } from "@moorage/kernel/store";
import { groups } from "@moorage/platform/iam";
import { requireTagPolicyRight, setCacheLimit, withOnUnknown } from "../registry/index.ts";
import { credentialPlace, keepsCredential } from "./credentials.ts";
import { checkUpstream } from "./fields.ts";
import { beginFollowing, endFollowing, interruptTurn, requestTurn } from "./follow-state.ts";
import { whatStays } from "./remains.ts";
import { changesPolicy, repoPolicy, updateRepoPolicies } from "./repo-policy.ts";
import { registryUpstreams, UPSTREAM_LAYOUT, upstreamColumns } from "./resource.ts";

const getUpstream = storedGet("registry_upstreams", UPSTREAM_LAYOUT);
const LIST = storedListOf(
  {
    method: RegistryUpstreamsService.method.listRegistryUpstreams,
    table: "registry_upstreams",
    defaultOrder: "registry",
    orderBy: sortable("registry", "description", "create_time", "update_time", "uid"),
    large: ["allowed", "denied", "allowed_digests", "anonymous_networks", "tag_policy"],
  },
  UPSTREAM_LAYOUT,
);

/** The registries that groups stand for: docs/standing-in-front.md. */
export function registryUpstreamsService({
  pageTokenKey,
  secrets,
  allowPrivateNetwork = true,
}: ServiceContext): Service<typeof RegistryUpstreamsService> {
  const store = async ({ tx }: Call, uid: string, password: string): Promise<void> => {
    const credential = password === "" ? "" : secrets.seal(password, credentialPlace(uid));
    await tx.updateTable("registry_upstreams").set({ credential }).where("uid", "=", uid).execute();
  };
  const check = (upstream: RegistryUpstream): void => {
    const violations = checkUpstream(upstream, { allowPrivateNetwork });
    if (violations.length > 0) throw invalidArgument(...violations);
  };
  return {
    getRegistryUpstream: (call, { uid }) => getUpstream(call.tx, uid),
    listRegistryUpstreams: (call, request) =>
      listStored(call, pageTokenKey, LIST, request, {
        filters: ({ registry }) => columnIsIfSet("registry", registry),
      }),
    async createRegistryUpstream(call, { parent, registryUpstream: upstream = create(RegistryUpstreamSchema) }) {
      check(upstream);
      await groups.get(call.tx, parent);
      await requireNone(call, parent);
      if (changesPolicy(undefined, upstream)) await requireTagPolicyRight(call, parent, POLICY_WORDS);
      withOnUnknown(upstream.tagPolicy?.vulnerabilities, undefined);
      const row = await registryUpstreams.insert(call, parent, {
        ...upstreamColumns(upstream),
        follow_state: null,
        credential: "",
        last_success_time: null,
        last_error: "",
        last_error_time: null,
        rate: null,
        held_until: 0,
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      // It is sealed for the row's uid, which the insert has assigned.
      if (upstream.password !== "") await store(call, row.uid, upstream.password);
      if (row.max_bytes > 0) await setCacheLimit(call, parent, row.max_bytes);
      if (row.follow === null) return registryUpstreams.toMessage(row);
      await beginFollowing(call, row.uid);
      return registryUpstreams.toMessage(await registryUpstreams.get(call.tx, row.uid));
    },
    async updateRegistryUpstream(call, { registryUpstream: upstream = create(RegistryUpstreamSchema), updateMask }) {
      const { uid } = upstream;
      let [isNew, isOther] = [false, false];
      await registryUpstreams.patch(call, uid, upstream, updateMask, async (before, after) => {
        const isKept = keepsCredential(before, after, updateMask);
        check(isKept && before.credential !== "" ? { ...after, password: "kept" } : after);
        const was = registryUpstreams.toMessage(before);
        if (changesPolicy(create(RegistryUpstreamSchema, was), after))
          await requireTagPolicyRight(call, before.parent, POLICY_WORDS);
        withOnUnknown(after.tagPolicy?.vulnerabilities, was.tagPolicy?.vulnerabilities);
        await updateRepoPolicies(call, uid, repoPolicy(before), repoPolicy(upstreamColumns(after)));
        if (!isKept) await store(call, uid, after.password);
        // Another user may have another limit.
        if (!isKept) await call.tx.updateTable("registry_upstreams").set(NOTHING_YET).where("uid", "=", uid).execute();
        const { follow } = upstreamColumns(after);
        if (Number(after.maxBytes) !== before.max_bytes)
          await setCacheLimit(call, before.parent, Number(after.maxBytes));
        isNew = follow !== before.follow || (!isKept && follow !== null);
        isOther = RULES.some((each) => upstreamColumns(after)[each] !== before[each]);
      });
      const { follow } = await registryUpstreams.get(call.tx, uid);
      if (isOther) await interruptTurn(call, uid);
      if (isNew) await (follow === null ? endFollowing : beginFollowing)(call, uid);
      return registryUpstreams.toMessage(await registryUpstreams.get(call.tx, uid));
    },
    async deleteRegistryUpstream(call, { uid }) {
      await endUpstream(call, await registryUpstreams.get(call.tx, uid));
      return {};
    },
    async detachRegistryUpstream(call, { uid }) {
      const row = await registryUpstreams.get(call.tx, uid);
      const stays = await whatStays(call, row);
      await endUpstream(call, row);
      return stays;
    },
    async followRegistryUpstream(call, { uid, force }) {
      const row = await registryUpstreams.get(call.tx, uid);
      const why = row.follow === null ? "the upstream follows nothing" : "the upstream is disabled";
      if (row.follow === null || row.disabled === 1)
        throw failedPrecondition({
          type: row.follow === null ? "NOTHING_FOLLOWED" : "DISABLED",
          subject: uid,
          description: why,
        });
      await requestTurn(call, uid, force);
      await call.tx.updateTable("registry_upstreams").set({ update_time: call.nowMs }).where("uid", "=", uid).execute();
      return registryUpstreams.toMessage(await registryUpstreams.get(call.tx, uid));
    },
  };
}

const POLICY_WORDS = "to say what becomes of the images that come";
/** What a turn under way would not see. */
const RULES = ["disabled", "allowed", "denied"] as const;
const NOTHING_YET = { rate: null, held_until: 0, last_error: "", last_error_time: null } as const;

async function requireNone(call: Call, group: string): Promise<void> {
  const found = await call.tx
    .selectFrom("registry_upstreams")
    .select("registry")
    .where("parent", "=", group)
    .executeTakeFirst();
  if (found !== undefined) throw alreadyExists(RegistryUpstreamSchema.typeName, found.registry);
}

/** Removes an upstream. What came from it is the group's own from now on. */
async function endUpstream(call: Call, row: Row<"registry_upstreams">): Promise<void> {
  const { tx } = call;
  const { uid: upstream } = row;
  // What nobody pulls cannot be fetched again from now on.
  await updateRepoPolicies(call, upstream, repoPolicy(row), row.tag_policy);
  if (row.max_bytes > 0) await setCacheLimit(call, row.parent, 0);
  await endFollowing(call, upstream);
  await registryUpstreams.remove(call, row);
  const repos = tx.selectFrom("upstream_repos").select("repo").where("upstream", "=", upstream);
  for (const table of ["upstream_tags", "upstream_sightings", "upstream_digests"] as const)
    await tx.deleteFrom(table).where("repo", "in", repos).execute();
  for (const table of ["upstream_repos", "center_pulls"] as const)
    await tx.deleteFrom(table).where("upstream", "=", upstream).execute();
}
