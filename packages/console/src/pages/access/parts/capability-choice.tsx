import { useQuery } from "@tanstack/react-query";
import type { Capability } from "../../../api/gen/iam.ts";
import { Note } from "../../../ui/note.tsx";
import { Stack } from "../../../ui/page.tsx";
import styles from "./parts.module.css";
import { groupsOf } from "./capability-words.ts";
import { rolesQuery } from "./data.ts";

export interface CapabilityChoiceProps {
  /** Capabilities with commas between them. */
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** Capabilities to choose, by what they are about. */
export function CapabilityChoice({ value, onChange, error }: CapabilityChoiceProps) {
  // The built-in role owner has all capabilities there are.
  const owner = useQuery(rolesQuery).data?.find(({ uid, name }) => name === "owner" && !uid.includes("/"));
  const chosen = new Set(value === "" ? [] : value.split(","));
  const all = [...new Set([...(owner?.capabilities ?? []), ...chosen])] as Capability[];
  const toggle = (capability: Capability): void => {
    if (!chosen.delete(capability)) chosen.add(capability);
    onChange([...chosen].join(","));
  };
  return (
    <Stack>
      <h3>What it allows</h3>
      {error !== undefined && (
        <div role="alert">
          <Note look="warning">{error}</Note>
        </div>
      )}
      {groupsOf(all).map(({ about, items }) => (
        <fieldset key={about} className={styles.fieldset}>
          <legend>{about}</legend>
          {items.map(({ capability, verb }) => (
            <label key={capability} title={capability}>
              <input type="checkbox" checked={chosen.has(capability)} onChange={() => toggle(capability)} />
              {verb}
              <span className="visually-hidden"> {about}</span>
            </label>
          ))}
        </fieldset>
      ))}
    </Stack>
  );
}
