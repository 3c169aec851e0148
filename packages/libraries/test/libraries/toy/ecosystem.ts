import { Capability } from "@moorage/api/messages";
import type { ServedEcosystem } from "../../../src/libraries/requests/protocol.ts";
import { TOY } from "./contract.ts";
import { listDocument, toyList } from "./tasks.ts";
import { toyVersions } from "./versions.ts";

/**
 * An ecosystem that nobody has: a toy is a text whose first line is its license, and its version is a number. A server
 * serves it when it is started with this module. Its rights are those of Maven, since the contract knows no others.
 *
 * @public A server loads it by the file's name.
 */
export const ecosystem: ServedEcosystem = {
  key: "toy",
  number: TOY,
  artifacts: "toys",
  read: Capability.CAP_LIBRARIES_JAVA_READ,
  publish: Capability.CAP_LIBRARIES_JAVA_PUBLISH,
  names: { comparable: (text) => text.toLowerCase() },
  versions: toyVersions,
  purl: {
    partsOf: (normalized) => ({ namespace: "", name: normalized }),
    comparable: (name) => name,
  },
  changes: {},
  tasks: [toyList],
  documents: [listDocument],
  errorBody: (message) => ({ contentType: "text/plain", text: `toy: ${message}` }),
  protocol: async () => (await import("./protocol.ts")).toyProtocol,
};
