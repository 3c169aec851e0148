import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { count } from "../../lib/bytes.ts";
import { CheckField } from "../../ui/field.tsx";
import styles from "./events.module.css";
import { prefixOf, TICKS } from "./event-ticks.ts";
import { countOf, recentEventsQuery, recentWords } from "./recent-events.ts";

export interface EventChoiceProps {
  /** Of whose events is said how many there were lately; those that may not be read are left out. */
  group: string;
  ticked: readonly string[];
  onTicked: (types: string[]) => void;
}

/** Which events are sent: kinds of them to tick, each with how many there were lately. None ticked: all. */
export function EventChoice({ group, ticked, onTicked }: EventChoiceProps) {
  const { data: recent } = useQuery(recentEventsQuery(group));
  const [nowMs] = useState(() => Date.now());
  const prefix = prefixOf(recent?.types[0]);
  const chosen = ticked.map((type) => prefix + type);
  const noteOf = (note: string | undefined, type: string): string | undefined => {
    const lately = recent && recent.types.length > 0 ? `${count(countOf(recent.types, [prefix + type]))} lately` : "";
    return [note, lately].filter(Boolean).join("; ") || undefined;
  };
  return (
    <div role="group" aria-label="Events">
      <p className={styles.head}>
        <strong>Events</strong> {ticked.length === 0 ? "none selected: all events are sent" : `${ticked.length} chosen`}
        {recent !== undefined && `: ${recentWords(recent, chosen, nowMs)}`}
      </p>
      <div className={styles.ticks}>
        {TICKS.map(([about, ticks]) => (
          <fieldset key={about}>
            <legend>{about}</legend>
            {ticks.map(({ label, note, type }) => (
              <CheckField
                key={type}
                label={label}
                help={noteOf(note, type)}
                checked={ticked.includes(type)}
                onChange={({ target: { checked } }) =>
                  onTicked(checked ? [...ticked, type] : ticked.filter((each) => each !== type))
                }
              />
            ))}
          </fieldset>
        ))}
      </div>
    </div>
  );
}
