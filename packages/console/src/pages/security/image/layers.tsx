import { useQuery } from "@tanstack/react-query";
import { bytes } from "../../../lib/bytes.ts";
import { shortDigest } from "../../../lib/digest.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Section } from "../../../ui/page.tsx";
import { buildSteps } from "./build-steps.ts";
import { configQuery } from "./data.ts";
import styles from "./image.module.css";
import { numberOf, objectOf, textOf } from "./json.ts";
import type { Chosen } from "./platforms.ts";

/** The layers of an image with the commands that made them. */
export function Layers({ chosen: { manifest, place } }: { chosen: Chosen }) {
  const config = useQuery(configQuery(place.name, textOf(objectOf(manifest?.json["config"])["digest"])));
  const steps = buildSteps(manifest?.json, config.data?.json);
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
                  "no command recorded"
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
