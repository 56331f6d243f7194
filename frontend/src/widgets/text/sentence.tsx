/** A sentence without line breaks between numbers and their units. */

const MEASURE = /([−-]?\d[\d.,]*\s(?:%|[nµm]?s|[KMGT]?i?B(?:\/s)?|[GT]FLOP\/s)(?![\p{L}\d]))/u;

export function Sentence({ text }: { readonly text: string }) {
  // The pattern has one group, so every other piece is a measure.
  return (
    <>
      {text.split(MEASURE).map((piece, index) =>
        index % 2 === 0 ? (
          piece
        ) : (
          <span class="measure" key={index}>
            {piece}
          </span>
        ),
      )}
    </>
  );
}
