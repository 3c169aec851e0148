// `moorage import-from` of a registry of packages: the plan, and what it says.
import type { RestClient } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { openSession, type Session } from "../tasks/session.ts";
import { withProgress } from "../terminal/progress.ts";
import { applyPackages } from "./apply-packages.ts";
import { applyProjects } from "./apply-projects.ts";
import type { Credentials } from "./authorization.ts";
import { devpiSource } from "./devpi-source.ts";
import { credentialsOf, type MoveInFlags, namesOf, type PackageKind } from "./flags.ts";
import { readHere } from "./here.ts";
import { makePackagePlan } from "./make-package-plan.ts";
import { makeProjectPlan } from "./make-project-plan.ts";
import type { Plan } from "./plan.ts";
import { readPlan, writePlan } from "./plan-file.ts";
import { printPlan, printResults } from "./reports.ts";
import { nexusSource } from "./nexus-source.ts";
import { Results } from "./results.ts";
import { requirePath, requireSame, type Task } from "./task.ts";
import { verdaccioSource } from "./verdaccio-source.ts";

/** A task whose registry has packages. */
type PackageTask = Task & { kind: PackageKind };

/** Is shown how far it is. */
type Note = (done: number, total: number) => void;

/** How packages of a kind come. */
interface Mover {
  plan(names: readonly string[] | undefined, note: Note): Promise<Plan>;
  apply(plan: Plan, results: Results, note: Note): Promise<void>;
}

/** What a mover works with. `group`: the uid of the group that all goes below. */
interface Moving {
  task: PackageTask;
  rest: RestClient;
  group: string;
  credentials: Credentials;
}

/** Makes or applies a plan, as the flags say. Answers the exit code: 9 when some items failed. */
export async function movePackagesIn(task: PackageTask, flags: MoveInFlags): Promise<number> {
  requirePath(task.into);
  return flags.plan === undefined ? apply(task, flags) : plan(task, flags);
}

async function plan(task: PackageTask, flags: MoveInFlags): Promise<number> {
  const wanted = await namesOf(flags.names);
  const credentials = await credentialsOf(flags.username, flags.passwordFile, "--password-file");
  const mover = await openMover(task, await openSession(flags), credentials);
  const made = await withProgress("no plan was written", (report) =>
    mover.plan(wanted, (done, total) => report.progress({ step: "read", done, total, unit: "packages" })),
  );
  await writePlan(task.file, made);
  await printPlan(made, task.file, flags);
  return EXIT.ok;
}

async function apply(task: PackageTask, flags: MoveInFlags): Promise<number> {
  const made = await readPlan(task.file);
  requireSame(made, task);
  const pull = await credentialsOf(flags.pullUsername, flags.pullPasswordFile, "--pull-password-file");
  const mover = await openMover(task, await openSession(flags), pull);
  const results = new Results();
  await withProgress("the same command again goes on", (report) =>
    mover.apply(made, results, (done, total) => report.progress({ step: "copy", done, total, unit: "packages" })),
  );
  await printResults({ applied: results }, flags);
  return results.of("failed").length > 0 ? EXIT.someFailed : EXIT.ok;
}

async function openMover(task: PackageTask, { rest, names }: Session, credentials: Credentials): Promise<Mover> {
  const moving = { task, rest, group: await names.uidOf("group", task.into), credentials };
  return task.kind === "verdaccio" ? packageMover(moving) : projectMover(moving);
}

function packageMover({ task: { kind, origin, into }, rest, group, credentials }: Moving): Mover {
  const source = verdaccioSource(origin, credentials);
  return {
    plan: (names, note) => makePackagePlan({ kind, into, group, source, names, rest, note }),
    apply: (made, results, note) => applyPackages({ rest, into, group, source, results }, made, note),
  };
}

function projectMover({ task: { kind, origin, into }, rest, group, credentials }: Moving): Mover {
  const source = (kind === "nexus" ? nexusSource : devpiSource)(origin, credentials);
  return {
    plan: async (names, note) =>
      makeProjectPlan({ kind, into, source, names, rest, here: await readHere(rest, group, into), note }),
    apply: async (made, results, note) =>
      applyProjects({ plan: made, rest, here: await readHere(rest, group, into), source, results }, note),
  };
}
