import { useQuery } from "@tanstack/react-query";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Note } from "../../ui/note.tsx";
import styles from "./package.module.css";
import { readmeQuery } from "./queries.ts";

export interface PackageReadmeProps {
  uid: string;
  ecosystem: string;
}

/** What a package says about itself, as its latest version that was published here has it. */
export function PackageReadme({ uid, ecosystem }: PackageReadmeProps) {
  const { data, error } = useQuery(readmeQuery(uid));
  if (data === undefined) return <ErrorNote error={error} />;
  if (data.text === undefined) return <Unknown ecosystem={ecosystem} />;
  if (data.text === "") return <Empty title="No readme" />;
  return (
    <>
      {data.cutOff === true && <Note>Truncated: only the beginning of the readme is stored.</Note>}
      {isPlain(data.contentType) ? (
        // Nothing of it is rendered, so it is shown as it was sent.
        <pre className={styles.readme} tabIndex={0}>
          {data.text}
        </pre>
      ) : (
        <Markdown text={data.text} />
      )}
    </>
  );
}

function Unknown({ ecosystem }: { ecosystem: string }) {
  if (ecosystem === "ECOSYSTEM_JAVA")
    return <Empty title="No readme">Maven packages have a description but no readme.</Empty>;
  return (
    <Empty title="Not known">Readmes are stored for npm and PyPI packages that were published to this server.</Empty>
  );
}

/** Whether it is in a form that is not rendered, such as reStructuredText or plain text. */
function isPlain(contentType: string | undefined): boolean {
  return contentType !== "text/markdown";
}
