import { Capability, type ReportUsageRequest, ReportUsageRequestSchema } from "@moorage/api/messages";
import { timeViolations } from "@moorage/kernel/aip/times";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { resolveRepository } from "@moorage/kernel/core/image-path";
import { invalidArgument, permissionDenied } from "@moorage/kernel/errors";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { statement } from "@moorage/kernel/store";
import { repoOfAlias } from "../aliases.ts";

const selectManifest = statement<{ one: number }>("select 1 as one from manifests where repo = ? and digest = ?");
const noteRunning = statement(
  `insert into running_images (repo, digest, source, identity, time) values (?, ?, ?, ?, ?)
   on conflict (repo, digest, source) do update set
     identity = case when excluded.time >= running_images.time then excluded.identity else running_images.identity end,
     time = case when excluded.time > running_images.time then excluded.time else running_images.time end`,
);

/** Notes the images that run, where the caller may report it. Throws PERMISSION_DENIED when it may nowhere. */
export async function reportUsage(
  call: Call,
  request: ReportUsageRequest,
): Promise<{ recorded: number; unknown: number[] }> {
  const violations = [
    ...violationsOf(ReportUsageRequestSchema, request),
    ...request.references.flatMap(({ time }, at) => timeViolations({ [`references[${at}].time`]: time })),
  ];
  if (violations.length > 0) throw invalidArgument(...violations);
  await requireReporter(call);
  const repos = new Map<string, string | undefined>();
  const unknown: number[] = [];
  for (const [at, { image, digest, time }] of request.references.entries()) {
    if (!repos.has(image)) repos.set(image, await reportableRepo(call, image));
    const repo = repos.get(image);
    if (repo === undefined || (await selectManifest(call.tx, repo, digest)).length === 0) {
      unknown.push(at);
      continue;
    }
    // A clock that is ahead would have an image count as used for longer than it can be known to be.
    const seenMs = time === undefined ? call.nowMs : Math.min(milliseconds(time), call.nowMs);
    await noteRunning(call.tx, repo, digest, request.source, call.caller.identity, Math.max(0, Math.floor(seenMs)));
  }
  return { recorded: request.references.length - unknown.length, unknown };
}

/** Throws PERMISSION_DENIED when the caller may report nowhere what runs. */
export async function requireReporter(call: Call): Promise<void> {
  if ((await call.visible(Capability.CAP_USAGE_REPORT)).length === 0)
    throw permissionDenied("the caller may report nowhere what runs", { missing: "CAP_USAGE_REPORT" });
}

async function reportableRepo(call: Call, image: string): Promise<string | undefined> {
  const { repo: named, group, missing } = await resolveRepository(call, image);
  const [alias] = missing;
  const repo =
    named ??
    (group !== undefined && alias !== undefined && missing.length === 1
      ? await repoOfAlias(call.tx, group, alias)
      : undefined);
  return repo !== undefined && (await call.may(Capability.CAP_USAGE_REPORT, repo)) ? repo : undefined;
}
