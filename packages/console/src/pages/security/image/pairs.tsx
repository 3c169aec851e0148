import { Section } from "../../../ui/page.tsx";
import styles from "./image.module.css";

export interface PairsProps {
  title: string;
  /** What the first column has. */
  name: string;
  pairs: readonly (readonly [name: string, value: string])[];
}

/** Names with their values as a table; nothing where there are none. */
export function Pairs({ title, name, pairs }: PairsProps) {
  if (pairs.length === 0) return null;
  return (
    <Section title={title}>
      <table className={styles.plain} aria-label={title}>
        <thead>
          <tr>
            <th scope="col">{name}</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map(([each, value], at) => (
            <tr key={at}>
              <th scope="row">
                <code>{each}</code>
              </th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
