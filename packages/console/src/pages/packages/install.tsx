import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Artifact } from "../../api/gen/libraries.ts";
import { readStored, store } from "../../lib/browser-storage.ts";
import { Command } from "../../ui/command.tsx";
import { Segmented } from "../../ui/segments.tsx";
import { installLines } from "./install-lines.ts";
import styles from "./package.module.css";

export interface InstallProps {
  package_: Artifact;
  /** The path of its group. */
  group: string;
  version: string;
}

/** The command that installs a version, for a client that is chosen once. */
export function Install({ package_: { ecosystem, name }, group, version }: InstallProps) {
  const key = `client ${ecosystem}`;
  const [chosen, setChosen] = useState(() => readStored(key));
  const all = installLines({ ecosystem, origin: window.location.origin, group, name, version });
  const lines = all.find(({ client }) => client === chosen) ?? all[0];
  if (lines === undefined) return null;
  return (
    <section className={styles.install} aria-label="Install">
      <header>
        <h2>Install</h2>
        <Segmented
          label="Client"
          value={lines.client}
          options={all.map(({ client }) => [client, client])}
          onValue={(client) => {
            setChosen(client);
            store(key, client);
          }}
        />
      </header>
      <Command text={lines.install} label="install command" prompt={lines.prompt} />
      <details>
        <summary>First time here? Point {lines.client} at this server</summary>
        <div>
          <p>{lines.setupLabel}</p>
          <Command text={lines.setup} label="setup" />
          <p>
            It signs in with a <Link to="/profile/tokens">personal token</Link>, which comes with instructions for
            storing it.
          </p>
        </div>
      </details>
    </section>
  );
}
