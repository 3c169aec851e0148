// `moorage import-from` of a registry of packages: the plan, and what it says.
import type { RestClient } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { openSession, type Session } from "../tasks/session.ts";
import { withProgress } from "../terminal/progress.ts";
import { artifactorySource } from "./artifactory-source.ts";
import { applyPackages } from "./apply-packages.ts";
import type { Applying } from "./apply-context.ts";
import { applyPlan, finishPlan } from "./apply-plan.ts";
import { applyProjects, IMAGE_KINDS } from "./apply-projects.ts";
import type { Credentials } from "./authorization.ts";
import { devpiSource } from "./devpi-source.ts";
import { credentialsOf, type MoveInFlags, namesOf, type PackageKind } from "./flags.ts";
import { readHere } from "./here.ts";
import { openSource } from "./client.ts";
import { openContentSizes } from "./content-sizes.ts";
import { makePlan } from "./make-plan.ts";
import { ociSource } from "./oci-source.ts";
import type { ProjectSource } from "./project-source.ts";
import { manifestReader } from "./registry-reader.ts";
import { makePackagePlan } from "./make-package-plan.ts";
import { makeProjectPlan } from "./make-project-plan.ts";
import type { Plan, PlanItem } from "./plan.ts";
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
  /** Ends what goes on after a plan was applied, where something does. */
  finish?(plan: Plan, results: Results, note: Note): Promise<void>;
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
  const [results, finished] = [new Results(), new Results()];
  await withProgress("the same command again goes on", async (report) => {
    await mover.apply(made, results, (done, total) => report.progress({ step: "copy", done, total, unit: "packages" }));
    if (flags.finish !== true) return;
    await mover.finish?.(made, finished, (done, total) =>
      report.progress({ step: "finish", done, total, unit: "repos" }),
    );
  });
  await printResults({ applied: results, ...(flags.finish === true && { finished }) }, flags);
  return [results, finished].some((each) => each.of("failed").length > 0) ? EXIT.someFailed : EXIT.ok;
}

async function openMover(task: PackageTask, { rest, names }: Session, credentials: Credentials): Promise<Mover> {
  const moving = { task, rest, group: await names.uidOf("group", task.into), credentials };
  if (task.kind === "verdaccio") return packageMover(moving);
  return task.kind === "artifactory"
    ? artifactoryMover(moving)
    : projectMover(SOURCES[task.kind](task.origin, credentials), moving);
}

function packageMover({ task: { kind, origin, into }, rest, group, credentials }: Moving): Mover {
  const source = verdaccioSource(origin, credentials);
  return {
    plan: (names, note) => makePackagePlan({ kind, into, group, source, names, rest, note }),
    apply: (made, results, note) => applyPackages({ rest, into, group, source, results }, made, note),
  };
}

const SOURCES = { devpi: devpiSource, nexus: nexusSource } as const;

function projectMover(source: ProjectSource, { task: { kind, into }, rest, group }: Moving): Mover {
  return {
    plan: async (names, note) =>
      makeProjectPlan({ kind, into, source, names, rest, here: await readHere(rest, group, into), note }),
    apply: async (made, results, note) =>
      applyProjects({ plan: made, rest, here: await readHere(rest, group, into), source, results }, note),
  };
}

/** Libraries are copied by this command; images by the server, as those of any registry. */
function artifactoryMover(moving: Moving): Mover {
  const { task, rest, group, credentials } = moving;
  const { kind, into, origin } = task;
  const source = artifactorySource(origin, credentials);
  const libraries = projectMover(source, moving);
  const applying = async (plan: Plan, results: Results): Promise<Applying> => {
    const here = await readHere(rest, group, into);
    return { plan: imagesOf(plan), rest, here, results, pull: credentials, history: false, contents: undefined };
  };
  return {
    async plan(names, note) {
      const here = await readHere(rest, group, into);
      const client = openSource(origin, credentials);
      const sizes = openContentSizes(manifestReader(client));
      const images = async (repos: readonly string[]): Promise<PlanItem[]> => {
        const of = { kind, address: origin, into, source: ociSource(client, repos), sizes, rest, here };
        return (await makePlan({ ...of, issuer: undefined, note: () => {} })).items;
      };
      const made = await makeProjectPlan({ kind, into, source, names, rest, here, images, note });
      const { count } = made.content;
      return { ...made, content: { count: count + sizes.count(), bytes: sizes.bytes(), atLeast: true } };
    },
    async apply(made, results, note) {
      await libraries.apply(made, results, note);
      await applyPlan(await applying(made, results), { policies: false, secrets: undefined, makesPublic: false }, note);
    },
    async finish(made, results, note) {
      await finishPlan(await applying(made, results), note);
    },
  };
}

/** The images of a plan, and the groups that they are in. */
function imagesOf(plan: Plan): Plan {
  return {
    ...plan,
    items: plan.items.filter(({ kind }) => kind === "group" || IMAGE_KINDS.some((each) => each === kind)),
  };
}
