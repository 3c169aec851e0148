import { Capability, Ecosystem } from "@moorage/api/messages";
import type { ServedEcosystem } from "../requests/protocol.ts";
import { mavenDownloads } from "./downloads.ts";
import { folderMetadata, metadataDocument, pluginPrefix, pom, pomDocument, pomFacts } from "./tasks.ts";
import { mavenVersions } from "./versions.ts";

/** Maven artifacts. Their names are `groupId:artifactId`. */
export const maven: ServedEcosystem = {
  key: "maven",
  number: Ecosystem.JAVA,
  artifacts: "Maven artifacts",
  read: Capability.CAP_LIBRARIES_JAVA_READ,
  publish: Capability.CAP_LIBRARIES_JAVA_PUBLISH,
  names: {
    comparable: (text) => text.toLowerCase(),
    // `com.acme.*` is also the group `com.acme` itself.
    alsoMeant: (pattern) => (pattern.endsWith(".*") ? [`${pattern.slice(0, -2)}:*`] : []),
  },
  versions: mavenVersions,
  purl: {
    // The groupId is the namespace.
    partsOf(normalized) {
      const cut = normalized.indexOf(":");
      return { namespace: normalized.slice(0, Math.max(cut, 0)), name: normalized.slice(cut + 1) };
    },
    comparable: (name) => name,
    requiredNamespace: "the groupId",
    packing: ["type", "classifier"],
  },
  changes: {},
  downloads: mavenDownloads,
  tasks: [folderMetadata, pom, pomFacts, pluginPrefix],
  documents: [metadataDocument, pomDocument],
  errorBody: (message) => ({ contentType: "text/plain; charset=utf-8", text: `${message}\n` }),
  protocol: async () => (await import("./protocol.ts")).mavenProtocol,
};
