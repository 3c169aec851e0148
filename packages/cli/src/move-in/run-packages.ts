// `moorage import-from` of a registry of packages: the plan, and what it says.
import { EXIT } from "../command/exit-codes.ts";
import { openSession } from "../tasks/session.ts";
import { withProgress } from "../terminal/progress.ts";
import { credentialsOf, type MoveInFlags, namesOf } from "./flags.ts";
import { readPlan, writePlan } from "./plan-file.ts";
import { printPlan, printResults } from "./reports.ts";
import { Results } from "./results.ts";
import { requirePath, requireSame, type Task } from "./task.ts";
import { applyPackages } from "./apply-packages.ts";
import { makePackagePlan } from "./make-package-plan.ts";
import { verdaccioSource } from "./verdaccio-source.ts";

/** Makes or applies a plan, as the flags say. Answers the exit code: 9 when some items failed. */
export async function movePackagesIn(task: Task, flags: MoveInFlags): Promise<number> {
  requirePath(task.into);
  return flags.plan === undefined ? apply(task, flags) : plan(task, flags);
}

async function plan({ kind, origin, into, file }: Task, flags: MoveInFlags): Promise<number> {
  const names = await namesOf(flags.names);
  const source = verdaccioSource(origin, await credentialsOf(flags.username, flags.passwordFile, "--password-file"));
  const { rest, names: groups } = await openSession(flags);
  const group = await groups.uidOf("group", into);
  const made = await withProgress("no plan was written", (report) =>
    makePackagePlan({
      kind,
      into,
      group,
      source,
      names,
      rest,
      note: (done, total) => report.progress({ step: "read", done, total, unit: "packages" }),
    }),
  );
  await writePlan(file, made);
  await printPlan(made, file, flags);
  return EXIT.ok;
}

async function apply(task: Task, flags: MoveInFlags): Promise<number> {
  const made = await readPlan(task.file);
  requireSame(made, task);
  const pull = await credentialsOf(flags.pullUsername, flags.pullPasswordFile, "--pull-password-file");
  const { rest, names } = await openSession(flags);
  const group = await names.uidOf("group", task.into);
  const results = new Results();
  const source = verdaccioSource(task.origin, pull);
  await withProgress("the same command again goes on", (report) =>
    applyPackages({ plan: made, rest, group, source, results }, (done, total) =>
      report.progress({ step: "copy", done, total, unit: "packages" }),
    ),
  );
  await printResults({ applied: results }, flags);
  return results.of("failed").length > 0 ? EXIT.someFailed : EXIT.ok;
}
