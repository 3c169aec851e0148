import { Capability, type OperationsService } from "@moorage/api/messages";
import { type Call, timeOfDayMs } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import type { Row } from "@moorage/kernel/store";
import type { Collected } from "@moorage/registry/oci";
import { leasesOf } from "../jobs/leases.ts";
import { diskMessage } from "./disk.ts";
import { feedMethods } from "./feed-methods.ts";
import { feedMessage, feedPresets, feedProblems } from "./feeds.ts";
import { createGarbagePreview } from "./garbage.ts";
import { isOperator, requireOperator } from "./operator.ts";

const MAX_LISTED = 1_000;

/** How the installation is doing, for those who run it. */
export function operationsService(context: ServiceContext): Service<typeof OperationsService> {
  const { installation } = context;
  const previewGarbage = installation && createGarbagePreview(installation);
  const checkOperator = (call: Call): Promise<void> => requireOperator(call, installation?.organization);
  return {
    async listJobs(call) {
      await checkOperator(call);
      const leases = await leasesOf(call.tx, MAX_LISTED);
      return {
        jobs: leases.map(({ work: name, holder, hold_until: untilMs }) => {
          const time = timestamp(timeOfDayMs(call, untilMs));
          if (holder === "") return { name, dueTime: time };
          return { name, holder, ...(untilMs > call.agreedMs && { leaseUntilTime: time }) };
        }),
      };
    },
    async listFeeds(call, request) {
      await checkOperator(call);
      const rows = await call.tx.selectFrom("feeds").selectAll().orderBy("name").limit(MAX_LISTED).execute();
      const unmatched = request.unmatched
        ? await unmatchedOf(
            call,
            rows.map(({ name }) => name),
          )
        : undefined;
      return {
        canChange: await isOperator(call, installation?.organization, Capability.CAP_OPERATIONS_FEEDS_UPDATE),
        feeds: rows.map((row) => feedMessage(call, row, unmatched?.get(row.name))),
      };
    },
    async listFeedProblems(call, { feed }) {
      await checkOperator(call);
      return { problems: await feedProblems(call, feed) };
    },
    async listFeedPresets(call) {
      await checkOperator(call);
      return { presets: await feedPresets(call, installation?.feedsMirror ?? "") };
    },
    ...feedMethods(context),
    async previewGarbageCollection(call) {
      await checkOperator(call);
      if (previewGarbage === undefined) throw new Error("only a server that answers requests counts garbage");
      const { repos, repoCount, ...total } = await previewGarbage(call);
      return {
        ...counts(total),
        repos: repos.map(({ name, ...collected }) => ({ name, ...counts(collected) })),
        repoCount: BigInt(repoCount),
      };
    },
    async getInstallation(call) {
      await checkOperator(call);
      const { version = "", engine = "", blobStore = "", startMs = 0, dataDir } = installation ?? {};
      const [organizations, repos, tags, disk] = await Promise.all([
        countOrganizations(call),
        total(call, "repos"),
        total(call, "tags"),
        dataDir === undefined ? undefined : diskMessage(dataDir, call.nowMs),
      ]);
      const counted = { organizations, repos, tags };
      return { version, engine, blobStore, startTime: timestamp(startMs), ...counted, ...(disk && { disk }) };
    },
  };
}

function counts({ tags, manifests, blobs, bytes }: Collected) {
  return { tags: BigInt(tags), manifests: BigInt(manifests), blobs: BigInt(blobs), bytes: BigInt(bytes) };
}

async function countOrganizations({ tx }: Call): Promise<bigint> {
  const row = await tx
    .selectFrom("groups")
    .select(({ fn }) => fn.countAll<number>().as("n"))
    .where("parent", "=", "")
    .executeTakeFirst();
  return BigInt(row?.n ?? 0);
}

/** The sum of the counters of the organizations. */
async function total({ tx }: Call, kind: "repos" | "tags"): Promise<bigint> {
  const row = await tx
    .selectFrom("counters")
    .innerJoin("groups", "groups.uid", "counters.ancestor")
    .select(({ fn }) => fn.sum<number | null>("counters.n").as("n"))
    .where("counters.kind", "=", kind)
    .where("groups.parent", "=", "")
    .executeTakeFirst();
  return BigInt(row?.n ?? 0);
}

/** The most statements that are answered of one feed, and of all. */
const MAX_UNMATCHED = 200;
const MAX_UNMATCHED_OF_ALL = 5_000;

/** The first statements that are about nothing here, by the names of feeds. */
async function unmatchedOf({ tx }: Call, feeds: readonly string[]) {
  const found = new Map<string, ReturnType<typeof statementOf>[]>();
  let left = MAX_UNMATCHED_OF_ALL;
  for (const feed of feeds) {
    const rows = await tx
      .selectFrom("feed_unmatched")
      .selectAll()
      .where("feed", "=", feed)
      .orderBy("n")
      .limit(Math.min(MAX_UNMATCHED, left))
      .execute();
    left -= rows.length;
    found.set(feed, rows.map(statementOf));
  }
  return found;
}

function statementOf({ record, ids, status, product, reason }: Row<"feed_unmatched">) {
  return { record, vulnerabilities: JSON.parse(ids) as string[], status, product, reason };
}
