import { CheckField } from "../../ui/field.tsx";
import styles from "./events.module.css";
import { TICKS } from "./event-ticks.ts";

/** Which events are sent: kinds of them to tick. None ticked: all. */
export function EventChoice({ ticked, onTicked }: { ticked: readonly string[]; onTicked: (types: string[]) => void }) {
  return (
    <div role="group" aria-label="Events">
      <p className={styles.head}>
        <strong>Events</strong> {ticked.length === 0 ? "none chosen: all are sent" : `${ticked.length} chosen`}
      </p>
      <div className={styles.ticks}>
        {TICKS.map(([about, ticks]) => (
          <fieldset key={about}>
            <legend>{about}</legend>
            {ticks.map(({ label, note, type }) => (
              <CheckField
                key={type}
                label={label}
                help={note}
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
