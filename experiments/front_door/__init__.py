"""From a file to topics with the defaults alone: cleaning, scripts without spaces, stems."""
