import { Capability, Ecosystem } from "@moorage/api/messages";
import type { ServedEcosystem } from "../requests/protocol.ts";
import { deprecate, tag, unpublish } from "./changes.ts";
import { MAX_README_CHARS, stateOf } from "./manifest.ts";
import {
  attestationsDocument,
  auditRequest,
  deprecations,
  keptVersions,
  keysDocument,
  packageDocument,
  packument,
  publishedVersion,
} from "./tasks.ts";
import { npmVersions } from "./versions.ts";

/** npm packages. */
export const npm: ServedEcosystem = {
  key: "npm",
  number: Ecosystem.JAVASCRIPT,
  artifacts: "npm packages",
  read: Capability.CAP_LIBRARIES_JAVASCRIPT_READ,
  publish: Capability.CAP_LIBRARIES_JAVASCRIPT_PUBLISH,
  names: { comparable: (text) => text.toLowerCase() },
  versions: npmVersions,
  purl: {
    // The scope is the namespace.
    partsOf(normalized) {
      const cut = normalized.startsWith("@") ? normalized.indexOf("/") : -1;
      return { namespace: normalized.slice(0, Math.max(cut, 0)), name: normalized.slice(cut + 1) };
    },
    comparable: ({ namespace, name }) => ({ namespace: namespace.toLowerCase(), name: name.toLowerCase() }),
  },
  changes: { deprecate, tag, unpublish },
  tasks: [publishedVersion, deprecations, keptVersions, packument, auditRequest],
  documents: [packageDocument, attestationsDocument, keysDocument],
  readme: {
    of(state) {
      const { readme: text } = stateOf(state);
      return text === undefined ? undefined : { text, contentType: "text/markdown" };
    },
    maxChars: MAX_README_CHARS,
  },
  errorBody: (message) => ({ contentType: "application/json", text: JSON.stringify({ error: message }) }),
  protocol: async () => (await import("./protocol.ts")).npmProtocol,
};
