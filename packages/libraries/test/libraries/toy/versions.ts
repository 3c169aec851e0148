import type { VersionRules } from "../../../src/libraries/ecosystem/ecosystem.ts";

/** Versions are numbers. Each is published once, whole. */
export const toyVersions: VersionRules = {
  order: "semver",
  sortKey: (version) => version.padStart(9, "0"),
  isPrerelease: () => false,
  areEqualByKey: false,
  grows: false,
  withdrawals: [],
  async settle(_, versions) {
    const latest = (await versions()).at(-1);
    return { latestVersion: latest?.version ?? "", description: latest?.description ?? "" };
  },
  rejection: ({ name, version }) => ({ status: 409, message: `Already exists: toy ${name} ${version}` }),
};
