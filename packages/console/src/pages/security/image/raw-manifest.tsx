import { useQuery } from "@tanstack/react-query";
import { saveFile } from "../../../lib/save-file.ts";
import { Button } from "../../../ui/button.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Section } from "../../../ui/page.tsx";
import { configQuery } from "./data.ts";
import { fileName } from "./file-name.ts";
import styles from "./image.module.css";
import { objectOf, textOf } from "./json.ts";
import type { Chosen } from "./platforms.ts";

/** Manifests and configuration as they were pushed. */
export function RawManifest({ chosen: { top, manifest, place, digest } }: { chosen: Chosen }) {
  const config = useQuery(configQuery(place.name, textOf(objectOf(manifest?.json["config"])["digest"])));
  const isIndex = digest !== place.digest;
  return (
    <>
      <Raw title={isIndex ? "Index" : "Manifest"} file={`${place.digest}.json`} text={top?.text} />
      {isIndex && <Raw title="Manifest of the platform" file={`${digest}.json`} text={manifest?.text} />}
      <Raw title="Configuration" file="config.json" text={config.data?.text} />
    </>
  );
}

function Raw({ title, file, text }: { title: string; file: string; text: string | undefined }) {
  if (text === undefined) return null;
  const actions = (
    <>
      <CopyButton text={text} label={`Copy the ${title.toLowerCase()}`} />
      <Button onClick={() => saveFile(fileName(file), "application/json", [text])}>Download</Button>
    </>
  );
  return (
    <Section title={title} actions={actions}>
      <pre className={styles.raw} aria-label={title}>
        {readable(text)}
      </pre>
    </Section>
  );
}

/** With line breaks where it is JSON; copies and downloads have the bytes of which the digest is made. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
