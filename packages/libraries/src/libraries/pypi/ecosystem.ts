import { Capability, Ecosystem } from "@moorage/api/messages";
import type { ServedEcosystem } from "../requests/protocol.ts";
import { normalizedName } from "./names.ts";
import { isBeside } from "./beside.ts";
import { MAX_README_CHARS, stateOf } from "./readme.ts";
import { coreMetadata, projectDocument, projectPage } from "./tasks.ts";
import { pypiVersions } from "./versions.ts";

/** Python projects. */
export const pypi: ServedEcosystem = {
  key: "pypi",
  number: Ecosystem.PYTHON,
  artifacts: "Python projects",
  read: Capability.CAP_LIBRARIES_PYTHON_READ,
  publish: Capability.CAP_LIBRARIES_PYTHON_PUBLISH,
  // Source: PEP 503.
  names: { comparable: (text) => text.toLowerCase().replaceAll(/[-_.]+/g, "-") },
  versions: pypiVersions,
  purl: {
    partsOf: (normalized) => ({ namespace: "", name: normalized }),
    comparable: ({ namespace, name }) => ({ namespace, name: normalizedName(name) }),
  },
  changes: {},
  tasks: [projectPage, coreMetadata],
  documents: [projectDocument],
  downloads: { counts: ({ name }) => !isBeside(name) },
  readme: { of: (state) => stateOf(state).readme, maxChars: MAX_README_CHARS },
  errorBody: (message) => ({ contentType: "text/plain; charset=utf-8", text: `${message}\n` }),
  protocol: async () => (await import("./protocol.ts")).pypiProtocol,
};
