import { useQuery } from "@tanstack/react-query";
import { parentUid } from "../../../../lib/uid.ts";
import { ChoiceField } from "../../../access/parts/choice-field.tsx";
import { usePaths } from "../../../access/parts/data.ts";
import type { OwnField } from "../../../access/parts/resource.ts";
import { allTrustRootsQuery } from "./queries.ts";
import { rootState } from "./root-words.ts";

const OF_SETTINGS = "The server's own, if its settings have one";

/** By which trust root an identity is verified: one of the group of its signer, or of those above, or the server's. */
export function RootChoice({ group, value, onChange, error }: OwnField & { group: string }) {
  const { data = [], isError } = useQuery(allTrustRootsQuery);
  const paths = usePaths();
  const nowMs = Date.now();
  const found = data.filter(({ uid }) => uid === value || isAbove(parentUid(uid), group));
  const chosen = found.find(({ uid }) => uid === value);
  const detail = chosen === undefined ? "" : rootState(chosen, nowMs).detail;
  const help = isError ? "The trust roots of groups could not be read." : detail;
  return (
    <ChoiceField
      label="Trust root"
      none={OF_SETTINGS}
      help={help || "The authorities and logs that verify its certificates"}
      choices={found.map((root) => ({
        value: root.uid,
        label: `${root.name} (${paths.get(parentUid(root.uid)) ?? "elsewhere"}): ${rootState(root, nowMs).word.toLowerCase()}`,
      }))}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}

/** Whether a group is this one or above it. */
function isAbove(own: string, group: string): boolean {
  return group === own || group.startsWith(`${own}/`);
}
