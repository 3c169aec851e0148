import { useQuery } from "@tanstack/react-query";
import { bytes } from "../../../lib/bytes.ts";
import { shortDigest } from "../../../lib/digest.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Section } from "../../../ui/page.tsx";
import { configQuery } from "./data.ts";
import styles from "./image.module.css";
import { type Json, numberOf, objectOf, objectsOf, textOf } from "./json.ts";
import type { Chosen } from "./platforms.ts";

/** A step of the build: its command, and the layer that it made, if it made one. */
export interface BuildStep {
  command: string;
  layer?: Json | undefined;
}

/**
 * The steps in their order: those of the history with the layers that they made. Layers without a step come last, as do
 * all without a history. Source: OCI image configuration, `history`.
 */
function buildSteps(layers: readonly Json[], history: readonly Json[]): readonly BuildStep[] {
  let next = 0;
  const steps = history.map((entry): BuildStep => {
    const command = textOf(entry["created_by"]) || textOf(entry["comment"]);
    return entry["empty_layer"] === true ? { command } : { command, layer: layers[next++] };
  });
  return [...steps, ...layers.slice(next).map((layer) => ({ command: "", layer }))];
}

/** The layers of an image with the commands that made them. */
export function Layers({ chosen: { manifest, place } }: { chosen: Chosen }) {
  const config = useQuery(configQuery(place.name, textOf(objectOf(manifest?.json["config"])["digest"])));
  const steps = buildSteps(objectsOf(manifest?.json["layers"]), objectsOf(config.data?.json["history"]));
  if (steps.length === 0) return <Empty title="No layers" />;
  return (
    <Section title="Layers">
      <ErrorNote error={config.error} />
      <table className={styles.plain} aria-label="Layers">
        <thead>
          <tr>
            <th scope="col">Command</th>
            <th scope="col">Size</th>
            <th scope="col" className={styles.minor}>
              Layer
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map(({ command, layer }, at) => (
            <tr key={at}>
              <td>
                {command === "" ? (
                  "no command is stated"
                ) : (
                  <code className={styles.command} tabIndex={command.length > 300 ? 0 : undefined}>
                    {command}
                  </code>
                )}
              </td>
              <td>{layer === undefined ? "no layer" : bytes(numberOf(layer["size"]))}</td>
              <td className={styles.minor}>
                <code title={`${textOf(layer?.["digest"])} ${textOf(layer?.["mediaType"])}`.trim()}>
                  {shortDigest(textOf(layer?.["digest"]))}
                </code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
