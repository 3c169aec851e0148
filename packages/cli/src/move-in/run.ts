import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import { openSession, type Session } from "../tasks/session.ts";
import { withProgress } from "../terminal/progress.ts";
import { originOfAddress } from "./address.ts";
import { applyPlan, finishPlan } from "./apply-plan.ts";
import type { Applying } from "./apply-context.ts";
import { openSource, type SourceClient } from "./client.ts";
import { openContentSizes } from "./content-sizes.ts";
import { checkFlags, credentialsOf, kindOf, type MoveInFlags, namesOf, type SourceKind } from "./flags.ts";
import { harborSource } from "./harbor-source.ts";
import { readHere } from "./here.ts";
import { makePlan } from "./make-plan.ts";
import type { Source } from "./model.ts";
import { ociSource } from "./oci-source.ts";
import type { Plan } from "./plan.ts";
import { readPlan, writePlan } from "./plan-file.ts";
import { quaySource } from "./quay-source.ts";
import { printPlan, printResults } from "./reports.ts";
import { openSecretsFile } from "./secrets-file.ts";
import { Results } from "./results.ts";

const INTERRUPTED = "the same command again goes on; what the server copies by now goes on by itself";

/** Makes or applies a plan, as the flags say. Answers the exit code: 9 when some items failed. */
export async function moveIn(kindText: string, address: string, flags: MoveInFlags): Promise<number> {
  const kind = kindOf(kindText);
  checkFlags(kind, flags);
  const origin = originOfAddress(address);
  const into = (flags.into ?? "").replace(/\/$/, "");
  if (flags.plan !== undefined) return plan({ kind, origin, into, file: flags.plan }, flags);
  return apply({ kind, origin, into, file: flags.apply ?? "" }, flags);
}

function sourceOf(
  kind: SourceKind,
  client: SourceClient,
  { names, namespaces }: { names: string[] | undefined; namespaces: string[] | undefined },
): Source {
  if (kind === "harbor") return harborSource(client, namespaces);
  if (kind === "quay") return quaySource(client, namespaces ?? [], Date.now());
  return ociSource(client, names);
}

/** What both steps are about. */
interface Task {
  kind: SourceKind;
  /** Scheme, host and port of the registry. */
  origin: string;
  into: string;
  file: string;
}

async function plan({ kind, origin, into, file }: Task, flags: MoveInFlags): Promise<number> {
  const [credentials, names] = [
    await credentialsOf(flags.username, flags.passwordFile, "--password-file"),
    await namesOf(flags.names),
  ];
  const session = await openSession(flags);
  const here = await hereOf(session, into);
  const client = openSource(origin, credentials);
  const made = await withProgress("no plan was written", (report) =>
    makePlan({
      kind,
      address: origin,
      into,
      source: sourceOf(kind, client, { names, namespaces: flags.namespace }),
      sizes: openContentSizes(client),
      rest: session.rest,
      here,
      note: (done, total) => report.progress({ step: "read", done, total, unit: "repos" }),
    }),
  );
  await writePlan(file, made);
  await printPlan(made, file, flags);
  return EXIT.ok;
}

async function apply({ kind, origin, into, file }: Task, flags: MoveInFlags): Promise<number> {
  const plan = await readPlan(file);
  requireSame(plan, { kind, origin, into, file });
  if (flags.history === true && !plan.history)
    throw new UsageFailure(`--history: a registry of the kind ${kind} does not say when its tags moved`);
  const pull = await credentialsOf(flags.pullUsername, flags.pullPasswordFile, "--pull-password-file");
  const session = await openSession(flags);
  const here = await hereOf(session, into);
  const base = { plan, rest: session.rest, here, pull, history: flags.history === true };
  const secrets = flags.secrets === undefined ? undefined : await openSecretsFile(flags.secrets);
  const applying: Applying = { ...base, results: new Results() };
  const finishing: Applying = { ...base, results: new Results() };
  try {
    await withProgress(INTERRUPTED, async (report) => {
      await applyPlan(applying, { policies: flags.policies === true, secrets }, (done, total) =>
        report.progress({ step: "copy", done, total, unit: "repos" }),
      );
      if (flags.finish !== true) return;
      await finishPlan(finishing, (done, total) => report.progress({ step: "finish", done, total, unit: "repos" }));
    });
  } finally {
    await secrets?.close();
  }
  await printResults(
    { applied: applying.results, ...(flags.finish === true && { finished: finishing.results }) },
    flags,
  );
  const failed = [applying, finishing].some(({ results }) => results.of("failed").length > 0);
  return failed ? EXIT.someFailed : EXIT.ok;
}

/** A plan is for the registry and the group that it was made for. */
function requireSame(plan: Plan, { kind, origin, into, file }: Task): void {
  if (plan.kind !== kind || plan.address !== origin)
    throw new UsageFailure(`${file}: is a plan for ${plan.kind} ${plan.address}, not for ${kind} ${origin}`);
  if (plan.into !== into) throw new UsageFailure(`${file}: is a plan into ${plan.into}, not into ${into}`);
}

async function hereOf({ rest, names }: Session, into: string): ReturnType<typeof readHere> {
  if (/^[0-9a-f]{40}/.test(into)) throw new UsageFailure("--into: name the group by its path, as acme/old");
  const uid = await names.uidOf("group", into);
  const here = await readHere(rest, uid, into);
  if (here.groups.get(into) !== uid) throw new Failure(`${into}: is not there as it is named`);
  return here;
}
