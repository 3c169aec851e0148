import { documentKind } from "../ecosystem/document-kind.ts";
import { task } from "../reading/task.ts";
import type { ProjectKind } from "./upstream-page.ts";

// What PyPI reads where it can be killed: metadata in distributions, what upstreams list, and the pages of both.

export const projectPage = task("pypi.page", async () => (await import("./render.ts")).renderPage);
export const coreMetadata = task("pypi.metadata", async () => (await import("./read-metadata.ts")).readMetadata);

export const projectDocument: ProjectKind = documentKind(
  "pypi.project",
  async () => (await import("./upstream-page.ts")).projectKind,
);
