import type { Config } from "@moorage/server";
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import { openSession, type Session } from "../tasks/session.ts";
import { withProgress } from "../terminal/progress.ts";
import { originOfAddress } from "./address.ts";
import { applyPlan, finishPlan } from "./apply-plan.ts";
import type { Applying } from "./apply-context.ts";
import { openSource } from "./client.ts";
import { openContentSizes } from "./content-sizes.ts";
import { checkFlags, credentialsOf, hasPackages, kindOf, type MoveInFlags, namesOf } from "./flags.ts";
import { type BroughtBytes, type FolderContents, openFolderContents } from "./folder-adoption.ts";
import { openFolderReader } from "./folder-content.ts";
import { openRegistryFiles } from "./open-files.ts";
import { folderSource } from "./folder-source.ts";
import { harborSource } from "./harbor-source.ts";
import { readHere } from "./here.ts";
import { makePlan } from "./make-plan.ts";
import type { Source } from "./model.ts";
import { ociSource } from "./oci-source.ts";
import { movePackagesIn } from "./run-packages.ts";
import { isOfPackages } from "./plan.ts";
import { readPlan, writePlan } from "./plan-file.ts";
import { quaySource } from "./quay-source.ts";
import { type ManifestReader, manifestReader } from "./registry-reader.ts";
import { printPlan, printResults } from "./reports.ts";
import { openSecretsFile } from "./secrets-file.ts";
import { Results } from "./results.ts";
import { requirePath, requireSame, type Task } from "./task.ts";

const INTERRUPTED = "the same command again goes on; what the server copies by now goes on by itself";

/**
 * Makes or applies a plan, as the flags say. `configOf`: the settings of the installation on this machine, which
 * content is linked into. Answers the exit code: 9 when some items failed.
 */
export async function moveIn(
  kindText: string,
  address: string,
  flags: MoveInFlags,
  configOf: () => Promise<Config>,
): Promise<number> {
  const kind = kindOf(kindText);
  checkFlags(kind, flags);
  const origin = kind === "distribution" ? (await openRegistryFiles(address)).root : originOfAddress(address);
  const into = (flags.into ?? "").replace(/\/$/, "");
  if (hasPackages(kind)) return movePackagesIn({ kind, origin, into, file: flags.plan ?? flags.apply ?? "" }, flags);
  if (flags.plan !== undefined) return plan({ kind, origin, into, file: flags.plan }, flags);
  const folder = kind === "distribution" ? origin : flags.blobsFrom;
  return apply({ kind, origin, into, file: flags.apply ?? "" }, flags, (work) =>
    folder === undefined ? work(undefined) : withContents(folder, configOf, work),
  );
}

/** Works with the content of a folder or a bucket, for the installation on this machine. */
async function withContents<T>(
  folder: string,
  configOf: () => Promise<Config>,
  work: (contents: FolderContents) => Promise<T>,
): Promise<T> {
  const reader = openFolderReader(await openRegistryFiles(folder));
  const [{ withAdopter }, config] = [await import("@moorage/server"), await configOf()];
  return await withAdopter(config, (adopter) => work(openFolderContents(reader, adopter)));
}

/** What a plan is read from. */
async function openReading(
  { kind, origin }: Task,
  flags: MoveInFlags,
): Promise<{ source: Source; manifests: ManifestReader }> {
  const names = await namesOf(flags.names);
  if (kind === "distribution") {
    const files = await openRegistryFiles(origin);
    const manifests = openFolderReader(files);
    return { source: folderSource(files, manifests, { names, nowMs: Date.now() }), manifests };
  }
  const client = openSource(origin, await credentialsOf(flags.username, flags.passwordFile, "--password-file"));
  const manifests = manifestReader(client);
  const { namespace, issuer } = flags;
  if (kind === "harbor")
    return { source: harborSource(client, { projects: namespace, issuer, nowMs: Date.now() }), manifests };
  if (kind === "quay") return { source: quaySource(client, namespace ?? [], Date.now()), manifests };
  return { source: ociSource(client, names), manifests };
}

async function plan(task: Task, flags: MoveInFlags): Promise<number> {
  const { kind, origin, into, file } = task;
  const { source, manifests } = await openReading(task, flags);
  const session = await openSession(flags);
  const here = await hereOf(session, into);
  const made = await withProgress("no plan was written", (report) =>
    makePlan({
      kind,
      address: origin,
      into,
      source,
      sizes: openContentSizes(manifests),
      rest: session.rest,
      here,
      issuer: flags.issuer,
      note: (done, total) => report.progress({ step: "read", done, total, unit: "repos" }),
    }),
  );
  await writePlan(file, made);
  await printPlan(made, file, flags);
  return EXIT.ok;
}

/** Does something with content of this machine, if there is any. */
type WithContents = <T>(work: (contents: FolderContents | undefined) => Promise<T>) => Promise<T>;

async function apply(
  { kind, origin, into, file }: Task,
  flags: MoveInFlags,
  withContent: WithContents,
): Promise<number> {
  const plan = await readPlan(file);
  requireSame(plan, { kind, origin, into, file });
  const other = plan.items.find(isOfPackages);
  if (other !== undefined) throw new UsageFailure(`${file}: a plan of ${kind} has no items of the kind ${other.kind}`);
  if (flags.history === true && !plan.history)
    throw new UsageFailure(`--history: a registry of the kind ${kind} does not say when its tags moved`);
  const pull = await credentialsOf(flags.pullUsername, flags.pullPasswordFile, "--pull-password-file");
  const session = await openSession(flags);
  const here = await hereOf(session, into);
  const base = { plan, rest: session.rest, here, pull, history: flags.history === true };
  const secrets = flags.secrets === undefined ? undefined : await openSecretsFile(flags.secrets);
  const [applied, finished] = [new Results(), new Results()];
  let brought: BroughtBytes | undefined;
  try {
    await withContent(async (contents) => {
      brought = contents?.brought;
      const applying: Applying = { ...base, contents, results: applied };
      await withProgress(INTERRUPTED, async (report) => {
        await applyPlan(
          applying,
          { policies: flags.policies === true, secrets, makesPublic: flags.public === true },
          (done, total) => report.progress({ step: "copy", done, total, unit: "repos" }),
        );
        if (flags.finish !== true) return;
        const note = (done: number, total: number): void =>
          report.progress({ step: "finish", done, total, unit: "repos" });
        await finishPlan({ ...applying, results: finished }, note);
      });
    });
  } finally {
    await secrets?.close();
  }
  await printResults({ applied, ...(flags.finish === true && { finished }), ...(brought && { brought }) }, flags);
  const failed = [applied, finished].some((results) => results.of("failed").length > 0);
  return failed ? EXIT.someFailed : EXIT.ok;
}

async function hereOf({ rest, names }: Session, into: string): ReturnType<typeof readHere> {
  requirePath(into);
  const uid = await names.uidOf("group", into);
  const here = await readHere(rest, uid, into);
  if (here.groups.get(into) !== uid) throw new Failure(`${into}: is not there as it is named`);
  return here;
}
