import { useState } from "react";
import { readStored, store } from "../../lib/storage.ts";
import { Command } from "../../ui/command.tsx";
import { Segmented } from "../../ui/segments.tsx";
import styles from "./repo-head.module.css";
import { pullCommand, pushCommand, type Tool, TOOLS } from "./tag/pull-commands.ts";

const CLIENT = "client";
const SIDES = [
  ["pull", "Pull"],
  ["push", "Push"],
] as const;

/** The command that pulls a tag of the image, or pushes one, for a client that is chosen once. */
export function PullBox({ name, tag = "latest" }: { name: string; tag?: string | undefined }) {
  const [side, setSide] = useState<"pull" | "push">("pull");
  const [tool, setTool] = useState<Tool>(() => TOOLS.find((each) => each === readStored(CLIENT)) ?? "docker");
  const reference = `:${tag}`;
  const pulled = { host: window.location.host, name, reference };
  const text = side === "pull" ? pullCommand(tool, pulled) : pushCommand(tool, pulled);
  return (
    <div className={styles.pull}>
      <div className={styles.pullHead}>
        <Segmented label="Command" value={side} options={SIDES} onValue={setSide} />
        <select
          className={styles.client}
          aria-label="Client"
          value={tool}
          onChange={({ target: { value } }) => {
            setTool(value as Tool);
            store(CLIENT, value);
          }}
        >
          {TOOLS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      <Command text={text} label={`${side} command`} prompt={tool === "kubernetes" && side === "pull" ? "" : "$"} />
    </div>
  );
}
