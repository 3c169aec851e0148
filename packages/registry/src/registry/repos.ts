import { create, fromJsonString } from "@bufbuild/protobuf";
import {
  RepoDeletedSchema,
  type Repo,
  RepoReadmeSchema,
  RepoSchema,
  ReposService,
  type TagPolicy,
  TagPolicySchema,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { applyMask } from "@moorage/kernel/aip/masks";
import { resource, storedGet } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { groups } from "@moorage/platform/iam";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { forgetCounts, type Row } from "@moorage/kernel/store";
import { checkNames, isNamed, listHas, reposOfAlias } from "./aliases.ts";
import { policyViolations } from "./policies.ts";
import { requirePolicyRights } from "./policy-rights.ts";
import { requireCount } from "./quotas/counts.ts";
import { requireNotPulled } from "./pulls/delete-guard.ts";
import { previewRetention } from "./retention-preview.ts";
import { readSync, requestSync, syncConfigText, updateMirror } from "./syncs.ts";
import { requireNoneProtected } from "./tag-moves.ts";
import { removeTags } from "./remove-tags.ts";
import { withOnUnknown } from "./vulnerability-gate.ts";

const LAYOUT = layoutOf(RepoSchema);
const plainColumns = columnsOf(LAYOUT, "repos", [
  "name",
  "description",
  "catalog_tier",
  "bundles",
  "readme",
  "aliases",
  "active_tags",
  "tag_policy",
  "product",
  "deprecation",
]);
// The source's password is stored in another table.
const toRow = (repo: Repo) => ({ ...plainColumns(repo), sync_config: syncConfigText(repo.syncConfig) });

export const repos = resource({
  message: RepoSchema,
  table: "repos",
  kind: "repos",
  toMessage: LAYOUT.ofRow,
  toRow,
});

const LIST = storedListOf(
  {
    method: ReposService.method.listRepos,
    table: "repos",
    defaultOrder: "name",
    orderBy: sortable("name", "description", "catalog_tier", "create_time", "update_time", "uid"),
    large: ["bundles", "aliases", "active_tags", "tag_policy"],
  },
  layoutOf(RepoSchema, { without: ["readme"] }),
);
const getRepo = storedGet("repos", LAYOUT);

export function reposService({
  pageTokenKey,
  secrets,
  allowPrivateNetwork = true,
}: ServiceContext): Service<typeof ReposService> {
  const rules = { allowPrivateNetwork };
  return {
    getRepo: (call, { uid }) => getRepo(call.tx, uid),
    async listRepos(call, request) {
      const aliased = await reposOfAlias(call, request.name);
      return await listStored(call, pageTokenKey, LIST, request, {
        filters: ({ name, catalogTier, bundles }) => [
          ...(name === undefined ? [] : [isNamed(name, aliased)]),
          ...columnIsIfSet("catalog_tier", catalogTier),
          ...(bundles.length === 0
            ? []
            : [
                sql`(${sql.join(
                  bundles.map((each) => listHas("t.bundles", each)),
                  sql` or `,
                )})`,
              ]),
        ],
      });
    },
    async createRepo(call, { parent, repo = create(RepoSchema) }) {
      validate(RepoSchema, repo);
      await requirePolicyRights(call, parent, undefined, repo);
      validatePolicy(repo.tagPolicy);
      withOnUnknown(repo.tagPolicy?.vulnerabilities, undefined);
      await groups.get(call.tx, parent);
      const row = await insertRepo(call, parent, repo);
      await updateMirror(call, secrets, row.uid, null, repo.syncConfig, rules);
      return repos.toMessage(row);
    },
    updateRepo: (call, { repo = create(RepoSchema), updateMask }) =>
      repos.patch(call, repo.uid, repo, updateMask, async (before, after) => {
        await requirePolicyRights(call, before.uid, create(RepoSchema, repos.toMessage(before)), after);
        validatePolicy(after.tagPolicy);
        withOnUnknown(after.tagPolicy?.vulnerabilities, repos.toMessage(before).tagPolicy?.vulnerabilities);
        if (before.name !== after.name) await repos.requireFree(call.tx, before.parent, after.name);
        await checkNames(call.tx, before.parent, after, before);
        await updateMirror(call, secrets, before.uid, before.sync_config, after.syncConfig, rules);
      }),
    async deleteRepo(call, { uid, unlessPulledWithin }) {
      const row = await repos.get(call.tx, uid);
      await requireNotPulled(call, { repo: uid }, unlessPulledWithin);
      await requireNoneProtected(call, row);
      await removeRepo(call, row);
      return {};
    },
    async getRepoReadme(call, { uid }) {
      return { uid, content: (await repos.get(call.tx, uid)).readme };
    },
    async updateRepoReadme(call, { repoReadme = create(RepoReadmeSchema), updateMask }) {
      const { uid } = repoReadme;
      const row = await repos.get(call.tx, uid);
      const after = applyMask(
        RepoReadmeSchema,
        create(RepoReadmeSchema, { uid, content: row.readme }),
        repoReadme,
        updateMask,
      );
      validate(RepoReadmeSchema, after);
      const changes = { readme: after.content, update_time: call.nowMs };
      await call.tx.updateTable("repos").set(changes).where("uid", "=", uid).execute();
      emitRepo(call, "updated", { ...row, ...changes });
      return after;
    },
    async previewTagRetention(call, request) {
      return await previewRetention(call, pageTokenKey, (await repos.get(call.tx, request.uid)).tag_policy, request);
    },
    async getRepoSync(call, { uid }) {
      await repos.get(call.tx, uid);
      return readSync(call, uid);
    },
    async syncRepo(call, { uid }) {
      await repos.get(call.tx, uid);
      return requestSync(call, uid);
    },
  };
}

/**
 * Creates a repo with only a name, as a push to a path does, and a tag policy in its stored form, if it has one. The
 * caller's rights have been checked before.
 */
export async function createRepoNamed(
  call: Call,
  parent: string,
  name: string,
  policy: string | null = null,
): Promise<string> {
  const tagPolicy = policy === null ? undefined : fromJsonString(TagPolicySchema, policy);
  const repo = create(RepoSchema, { name, tagPolicy });
  validate(RepoSchema, repo);
  const row = await insertRepo(call, parent, repo);
  emitRepo(call, "created", row);
  return row.uid;
}

const POLICY_CHUNK = 200;

/** Gives those of the repos another tag policy that have the policy `before`; both in their stored form. */
export async function replacePolicies(
  call: Call,
  uids: readonly string[],
  before: string | null,
  after: string | null,
): Promise<void> {
  const changes = { tag_policy: after, update_time: call.nowMs };
  for (let at = 0; at < uids.length; at += POLICY_CHUNK) {
    const rows = await call.tx
      .selectFrom("repos")
      .selectAll()
      .where("uid", "in", uids.slice(at, at + POLICY_CHUNK))
      .where("tag_policy", before === null ? "is" : "=", before)
      .execute();
    if (rows.length === 0) continue;
    await call.tx
      .updateTable("repos")
      .set(changes)
      .where(
        "uid",
        "in",
        rows.map(({ uid }) => uid),
      )
      .execute();
    for (const row of rows) emitRepo(call, "updated", { ...row, ...changes });
  }
}

// The events of other methods are emitted from their responses.
function emitRepo(call: Call, what: "created" | "updated", row: Row<"repos">): void {
  call.emit(RepoSchema, {
    type: `api.platform.registry.repo.${what}.v1`,
    subject: row.uid,
    group: row.parent,
    body: repos.toMessage(row),
  });
}

async function insertRepo(call: Call, parent: string, repo: Repo): Promise<Row<"repos">> {
  await checkNames(call.tx, parent, repo);
  const row = await repos.insert(call, parent, { ...toRow(repo), create_time: call.nowMs, update_time: call.nowMs });
  await requireCount(call, "repos", row.uid);
  return row;
}

async function removeRepo(call: Call, row: Row<"repos">): Promise<void> {
  for (const { end } of call.below.repo) await end(call, row.uid);
  const tagCount = await removeTags(call, row.uid);
  for (const table of ["attachment_checks", "signature_checks", "gate_events", "last_pulls", "running_images"] as const)
    await call.tx.deleteFrom(table).where("repo", "=", row.uid).execute();
  await forgetCounts(call.tx, row.uid);
  await repos.remove(call, row);
  call.emit(RepoDeletedSchema, {
    type: "api.platform.registry.repo.deleted.v1",
    subject: row.uid,
    group: row.parent,
    body: { uid: row.uid, tagCount },
  });
}

function validatePolicy(policy: TagPolicy | undefined): void {
  const violations = policy === undefined ? [] : policyViolations(policy, "tagPolicy");
  if (violations.length > 0) throw invalidArgument(...violations);
}
