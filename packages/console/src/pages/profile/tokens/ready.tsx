import { CircleCheck, X } from "lucide-react";
import { useState } from "react";
import type { PersonalToken } from "../../../api/gen/iam.ts";
import { Button } from "../../../ui/button.tsx";
import { Command } from "../../../ui/command.tsx";
import { type ClientName, CLIENTS, linesFor } from "./client-lines.ts";
import styles from "./tokens.module.css";

export interface ReadyProps {
  made: PersonalToken;
  /** The registry's host. */
  registry: string;
  /** The path of the group whose packages the lines are about. */
  group: string;
  onClose: () => void;
}

/** A new token, which is shown this once, with the finished lines for the program that is chosen. */
export function Ready({ made, registry, group, onClose }: ReadyProps) {
  const [client, setClient] = useState<ClientName>("docker");
  const { protocol } = window.location;
  const lines = linesFor(client, { protocol, host: registry, group, token: made.token });
  return (
    <section className={styles.ready} aria-label="The new token">
      <header className={styles.readyHead}>
        <CircleCheck size={18} aria-hidden />
        <p role="status">
          <strong>Token “{made.name}” is ready.</strong> Copy it now. It is not shown again.
        </p>
        <Button look="quiet" aria-label="I have copied it" onClick={onClose} icon={<X size={16} aria-hidden />} />
      </header>
      <div className={styles.clients} role="group" aria-label="Lines for">
        {CLIENTS.map((name) => (
          <button key={name} type="button" aria-pressed={name === client} onClick={() => setClient(name)}>
            {name}
          </button>
        ))}
      </div>
      <ol className={styles.lines}>
        {lines.map(({ label, text }) => (
          <li key={label}>
            <h3>{label}</h3>
            <Command text={text} label={label} />
          </li>
        ))}
      </ol>
    </section>
  );
}
