import { documentKind } from "../ecosystem/document-kind.ts";
import { task } from "../reading/task.ts";
import type { PackageKind } from "./upstream-document.ts";

// What npm reads where it can be killed: what clients send, what upstreams say, and what is made of both.

export const publishedVersion = task(
  "npm.version",
  async () => (await import("./read-publication.ts")).publishedVersion,
);
export const deprecations = task(
  "npm.deprecations",
  async () => (await import("./read-publication.ts")).deprecationsIn,
);
export const keptVersions = task("npm.kept", async () => (await import("./read-publication.ts")).keptVersions);
export const packument = task("npm.packument", async () => (await import("./render.ts")).renderPackument);
export const auditRequest = task("npm.asked", async () => (await import("./audit-request.ts")).askedIn);

export const packageDocument: PackageKind = documentKind(
  "npm.package",
  async () => (await import("./upstream-document.ts")).packageKind,
);
export const attestationsDocument = documentKind(
  "npm.attestations",
  async () => (await import("./attestation-kinds.ts")).attestationsKind,
);
export const keysDocument = documentKind("npm.keys", async () => (await import("./attestation-kinds.ts")).keysKind);
