import type { Awaitable } from "../../lib/awaitable.ts";

/**
 * What is read of texts of others, by name: pure functions of plain data, which run in this thread or in a child
 * process. Each is loaded where it is first needed.
 */
const TASKS = {
  /** A document of an upstream. */
  document: async () => (await import("../upstreams/read-document.ts")).readDocument,
  /** A document that is kept in one piece, as it was before large ones were divided. */
  divide: async () => (await import("../upstreams/read-document.ts")).divideKept,
  "npm.version": async () => (await import("../npm/read-published.ts")).publishedVersion,
  "npm.deprecations": async () => (await import("../npm/read-published.ts")).deprecationsIn,
  "npm.kept": async () => (await import("../npm/read-published.ts")).keptVersions,
  "npm.packument": async () => (await import("../npm/render.ts")).renderPackument,
  "npm.asked": async () => (await import("../npm/audit-request.ts")).askedIn,
  "pypi.page": async () => (await import("../pypi/render.ts")).renderPage,
  "pypi.metadata": async () => (await import("../pypi/read-metadata.ts")).readMetadata,
  "maven.metadata": async () => (await import("../maven/render.ts")).renderMetadata,
  "maven.pom": async () => (await import("../maven/read-pom.ts")).readPom,
  "maven.pomFacts": async () => (await import("../maven/read-pom.ts")).readPomFacts,
  "maven.pluginPrefix": async () => (await import("../maven/read-pom.ts")).readPluginPrefix,
} as const;

type Tasks = { [Name in keyof typeof TASKS]: Awaited<ReturnType<(typeof TASKS)[Name]>> };

export type TaskName = keyof Tasks;
export type TaskInput<Name extends TaskName> = Parameters<Tasks[Name]>[0];
export type TaskOutput<Name extends TaskName> = Awaited<ReturnType<Tasks[Name]>>;

export const TASK_NAMES = Object.keys(TASKS) as TaskName[];

/** The function of a task. */
export async function loadTask<Name extends TaskName>(
  name: Name,
): Promise<(input: TaskInput<Name>) => Awaitable<TaskOutput<Name>>> {
  return (await TASKS[name]()) as unknown as (input: TaskInput<Name>) => Awaitable<TaskOutput<Name>>;
}
