import { Capability, Ecosystem } from "@moorage/api/messages";
import type { LibraryKind } from "../store/index.ts";

/** The ecosystems, by what their part of the URL and their events call them. */
export type EcosystemKey = "npm" | "pypi" | "maven";

/** What distinguishes an ecosystem outside of its own protocol. */
export interface EcosystemRules {
  key: EcosystemKey;
  /** Its number in the API and in tables. */
  number: Ecosystem;
  /** The kind of its artifacts in counters and in the index by ancestor. */
  kind: LibraryKind;
  /** What a caller needs to install, and to publish. */
  read: Capability;
  publish: Capability;
}

export const ECOSYSTEMS: Readonly<Record<EcosystemKey, EcosystemRules>> = {
  npm: {
    key: "npm",
    number: Ecosystem.JAVASCRIPT,
    kind: kindOf(Ecosystem.JAVASCRIPT),
    read: Capability.CAP_LIBRARIES_JAVASCRIPT_READ,
    publish: Capability.CAP_LIBRARIES_JAVASCRIPT_PUBLISH,
  },
  pypi: {
    key: "pypi",
    number: Ecosystem.PYTHON,
    kind: kindOf(Ecosystem.PYTHON),
    read: Capability.CAP_LIBRARIES_PYTHON_READ,
    publish: Capability.CAP_LIBRARIES_PYTHON_PUBLISH,
  },
  maven: {
    key: "maven",
    number: Ecosystem.JAVA,
    kind: kindOf(Ecosystem.JAVA),
    read: Capability.CAP_LIBRARIES_JAVA_READ,
    publish: Capability.CAP_LIBRARIES_JAVA_PUBLISH,
  },
};

/** What a caller needs to remove versions, of any ecosystem. */
export const REMOVE = Capability.CAP_LIBRARIES_ARTIFACTS_DELETE;

/** The kind of the artifacts of an ecosystem in counters and in the index by ancestor. */
export function kindOf(ecosystem: number): LibraryKind {
  return `artifacts-${ecosystem}`;
}

/** The rules of the ecosystem with this number. */
export function ecosystemOf(number: number): EcosystemRules {
  const found = Object.values(ECOSYSTEMS).find((rules) => rules.number === number);
  if (found === undefined) throw new Error(`there is no ecosystem ${number}`);
  return found;
}
